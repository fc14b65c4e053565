Binput_0JP1 3 2 010
1 0 1