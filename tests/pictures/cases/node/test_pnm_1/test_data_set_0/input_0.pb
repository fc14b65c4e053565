Binput_0JP4
7 5
v
¬˜2