Bi0J@å¯bÌSpxÄ’{9Éj˜èxÆ«¢‚s™GkÖUN
r”àcf@Ô‚ïlHý©î¯‰Xéc«wå@&