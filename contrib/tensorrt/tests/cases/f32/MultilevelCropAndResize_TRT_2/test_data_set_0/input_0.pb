Bi0JP_¶Cα’C–BD¥[~DΡ½BμζηCλBαCϊίθCi›PBΤΦC«ªΫB›†DF
@C=οDσλxCΈ™D¤άΖC{
φCM'SDϊ—D