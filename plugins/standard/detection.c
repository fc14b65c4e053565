/* From predictions of a detector to boxes: the last layers of SSD and of Faster R-CNN. Scores and
 * boxes are those of each prior or anchor; which of them stay only the run knows. */
#include "families.h"

/* SSD. Per image P priors, as corners and as variances. */
#define PRIORS "elements(priors) / 8"
#define LOCATION_CLASSES "(share_location == 1 ? 1 : classes)"

/* Faster R-CNN. */
#define PROPOSAL_INPUTS          \
  TYPES(TYPE("T", FLOAT_TYPES)), \
      INPUTS(PORT("scores", "T"), PORT("deltas", "T"), PORT("image", "T"))
#define PROPOSAL_ATTRIBUTES                                                            \
  ATTRIBUTES(REQUIRED_FLOATS("anchors"), REQUIRED_INT("stride"), INT("pre_top", "-1"), \
             REQUIRED_INT("post_top"), FLOAT("iou_threshold", "0.7"), FLOAT("min_size", "16.0"))
#define PROPOSAL_CHECKS                                                                      \
  CHECKS(CHECK("rank(scores) == 4 && rank(deltas) == 4",                                     \
               "scores have rank {rank(scores)}, deltas {rank(deltas)}, not 4"),             \
         CHECK("len(anchors) == 4 * dim(scores, 1) && dim(deltas, 1) == 4 * dim(scores, 1)", \
               "{len(anchors)} numbers of anchors and {dim(deltas, 1)} deltas for"           \
               " {dim(scores, 1)} scores of a place"),                                       \
         CHECK("dim(deltas, 0) == dim(scores, 0) && dim(deltas, 2) == dim(scores, 2) &&"     \
               " dim(deltas, 3) == dim(scores, 3)",                                          \
               "deltas are of other places than scores"),                                    \
         CHECK("dim(image, -1) >= 2 &&"                                                      \
               " (elements(image) == dim(image, -1) * dim(scores, 0) ||"                     \
               " elements(image) == dim(image, -1))",                                        \
               "{elements(image)} numbers about {dim(scores, 0)} images"),                   \
         CHECK("post_top >= 1 && post_top < 2147483648 && stride >= 1",                      \
               "post_top is {post_top}, stride {stride}"))

static const tenon_operator_t operators[] = {
    {OPERATOR("detection_output",
              "[image, class, score, left, top, right, bottom] of the boxes that stay"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("locations", "T"), PORT("scores", "T"), PORT("priors", "T")),
     OUTPUTS(UNBOUNDED("y", "T")),
     ATTRIBUTES(REQUIRED_INT("classes"), FLAG("share_location", "1"), INT("background", "0"),
                CHOICE("code", "'corner'", "corner|center_size|corner_size"),
                FLAG("variance_in_target", "0"), FLOAT("nms_threshold", "0.3"), FLOAT("eta", "1.0"),
                INT("top_k", "-1"), INT("keep_top_k", "-1"), FLOAT("score_threshold", "-inf")),
     CHECKS(
         CHECK("classes >= 1 && classes < 2147483648", "{classes} classes"),
         CHECK("rank(locations) >= 2 && rank(scores) >= 2 && dim(locations, 0) == dim(scores, 0)",
               "locations are of {dim(locations, 0)} images, scores of {dim(scores, 0)}"),
         CHECK("elements(locations) == dim(scores, 0) * 4 * " PRIORS " * " LOCATION_CLASSES,
               "{elements(locations)} locations for {" PRIORS "} priors of {dim(scores, 0)}"
               " images"),
         CHECK("elements(scores) == dim(scores, 0) * " PRIORS " * classes",
               "{elements(scores)} scores for {" PRIORS "} priors and {classes} classes of"
               " {dim(scores, 0)} images")),
     .shape = "y.rank = 4;"
              "y[d] = d == 2 ? fresh(keep_top_k >= 0 ? dim(scores, 0) * max(keep_top_k, 1)"
              " : max(elements(scores), dim(scores, 0))) : d == 3 ? 7 : 1",
     .traits = "pure"},
    {OPERATOR("propose_regions", "[image, left, top, right, bottom] of the anchors that stay"),
     PROPOSAL_INPUTS,
     OUTPUTS(UNBOUNDED("rois", "T"),
             PORT_OF("best", "T", NULL, TENON_PORT_OPTIONAL | TENON_PORT_UNBOUNDED)),
     PROPOSAL_ATTRIBUTES, PROPOSAL_CHECKS,
     .shape = "rois.rank = 2; rois[d] = d == 0 ? fresh(dim(scores, 0) * post_top) : 5;"
              "best.rank = 2; best[d] = d == 0 ? fresh(dim(scores, 0) * post_top) : 1",
     .traits = "pure"},
    {OPERATOR(
         "propose_regions_padded",
         "[left, top, right, bottom] of post_top anchors of each image; zeros where fewer stay"),
     PROPOSAL_INPUTS, OUTPUTS(PORT("rois", "T")), PROPOSAL_ATTRIBUTES, PROPOSAL_CHECKS,
     .shape = "rois.rank = 3; rois[d] = d == 0 ? dim(scores, 0) : d == 1 ? post_top : 4",
     .traits = "pure"},
};
FAMILY(detection);
