"""Letters of every script have a case, in any locale."""
import numpy as np
from case import T, graph, info, node, save

texts = np.array(["caf\u00e9", "\u00c9T\u00c9", "\u0436\u03c3", "stra\u00dfe", "no"], object)
save(graph([node("StringNormalizer", "x", "upper", case_change_action="UPPER", stopwords=["NO"]),
            node("StringNormalizer", "x", "lower", case_change_action="LOWER", stopwords=["\u00e9t\u00e9"])],
           [info("x", T.STRING, texts.shape)], [info("upper", T.STRING), info("lower", T.STRING)]),
     20, ([texts], [np.array(["CAF\u00c9", "\u00c9T\u00c9", "\u0416\u03a3", "STRA\u00dfE"], object),
                    np.array(["caf\u00e9", "\u0436\u03c3", "stra\u00dfe", "no"], object)]))
