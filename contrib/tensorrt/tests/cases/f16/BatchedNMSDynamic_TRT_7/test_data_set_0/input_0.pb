
Bi0Jx-@gC
-Õ?I?3@äBBäAªD…BŽE”@”8Ds<NB‹AÕDnBâBÄBªC™DCÿ>EEËC¿Dy4¡F>tB¶D¸D\F4CXD}DÇE@ù@ØB°A<D‡@æD™C4CXD}DÇE45C/;ÝEÊ,¨Að;QD