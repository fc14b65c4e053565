Bi2J`)À(B¤YŒB²‰¨BòÕßB¥×!B¦ÉAc‰¤BRµ^BW/BŸólBÍ’BxðB×Ý#B§ò
BáÃ™BGãB,>Aƒ»Aæ®ÕAEeŒB½ÜÐAiýWBcŽB°ÂB