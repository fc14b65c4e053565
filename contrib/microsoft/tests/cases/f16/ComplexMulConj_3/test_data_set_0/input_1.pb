
Bi1JB¹P¹