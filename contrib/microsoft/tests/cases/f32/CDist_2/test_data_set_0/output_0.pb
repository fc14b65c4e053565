Bo0J$L¤$AOB¹-dAXn¤AÐBÌ
/AÖƒqAF“ðAªL6@