
Bi0J8,O|KéQ≥J.BBN	Lﬁ@–>1L‰H