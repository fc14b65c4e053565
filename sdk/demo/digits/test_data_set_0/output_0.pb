
BprobabilitiesJ( щ®8йЊп8§вJ:“9От=9шWq::1Ф9¦B?%g8sћ8