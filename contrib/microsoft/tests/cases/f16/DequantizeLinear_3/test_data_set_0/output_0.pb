
Bo0JPn¼P>GF*¼€DÖ<UD9…;¤¹ƒFàE¤9%F_±_Er2¹_APB‘DÖ@ü>LDè9Fì?¤A_1_µtGL0GÊ;¾Eè5C_5@;GF