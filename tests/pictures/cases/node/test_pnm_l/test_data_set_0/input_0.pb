.Binput_0J.P5
7 5
255
HĞJŠA*AdßüB¯òbÌâl‘˜:#LAF„}`ä