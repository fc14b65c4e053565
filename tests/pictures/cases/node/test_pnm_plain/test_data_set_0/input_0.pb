@Binput_0J@P3 # three numbers a pixel
2 1
# and a maximum
15
15 0 7  1 2
3
