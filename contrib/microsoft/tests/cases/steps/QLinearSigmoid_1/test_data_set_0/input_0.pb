Bi0J
½Æg¨ZbÀókû