#!/usr/bin/env python3
"""Records the cases beside this script: small models of scikit-learn as skl2onnx writes them, and
single operators of ai.onnx.ml in forms that it does not write, with what ONNX Runtime computes.

    python3 cases.py        needs numpy, onnx, onnxruntime, scikit-learn, skl2onnx
"""
import pathlib
import shutil
import warnings

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DictionaryType, FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (GradientBoostingClassifier, GradientBoostingRegressor,
                              RandomForestClassifier, RandomForestRegressor)
from sklearn.feature_extraction import DictVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

FOLDER = pathlib.Path(__file__).parent / "cases"
warnings.filterwarnings("ignore")
onnxruntime.set_default_logger_severity(4)
random = numpy.random.default_rng(7)


def table(value, keys=None):
    """Maps as Tenon has them: a row for each, a column for each key (of a map without keys named: as they ascend)."""
    if not isinstance(value, (dict, list)):
        return value
    rows = value if isinstance(value, list) else [value]
    columns = sorted(rows[0]) if keys is None else keys
    first = next(iter(rows[0].values()))
    dtype = object if isinstance(first, str) else numpy.int64 if isinstance(first, int) else numpy.float32
    return numpy.array([[row.get(key, "" if dtype is object else 0) for key in columns] for row in rows], dtype)


def write(name, model, inputs, change=None, asked=None, keys=None):
    """A case in the layout of ONNX's backend tests; outputs are ONNX Runtime's, perhaps changed, or those of another
    model that it is asked, with other inputs. Maps go in and come out as tables, whose columns are `keys`."""
    folder = FOLDER / "node" / f"test_{name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    session_model, session_inputs = asked or (model, inputs)
    session = onnxruntime.InferenceSession(session_model.SerializeToString())
    names = [value.name for value in session.get_inputs()]
    outputs = session.run(None, dict(zip(names, session_inputs)))
    if change is not None:
        outputs = change(outputs)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for kind, values, declared in (("input", inputs, model.graph.input),
                                   ("output", outputs, model.graph.output)):
        for place, (value, one) in enumerate(zip(values, declared)):
            tensor = numpy_helper.from_array(table(value, keys), one.name)
            (data / f"{kind}_{place}.pb").write_bytes(tensor.SerializeToString())


def learned(name, model, x, y=None):
    """A model that learns x (and y), exported; asked about its first rows."""
    model = model.fit(x) if y is None else model.fit(x, y)
    options = {"zipmap": False} if hasattr(model, "classes_") else None
    write(name, to_onnx(model, x[:1], options=options, target_opset={"": 15, "ai.onnx.ml": 3}),
          [x[:12]])


def operator(name, op, inputs, outputs=((TensorProto.FLOAT, 2),), version=3, **attributes):
    """A model of one operator. Outputs are (element type, rank)."""
    made = helper.make_node(op, [f"x{i}" for i in range(len(inputs))],
                            [f"y{i}" for i in range(len(outputs))], domain="ai.onnx.ml",
                            **attributes)
    graph = helper.make_graph(
        [made], name,
        [helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for i, x in enumerate(inputs)],
        [helper.make_tensor_value_info(f"y{i}", dtype, [None] * rank)
         for i, (dtype, rank) in enumerate(outputs)])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", version)])


def node(name, op, inputs, outputs=((TensorProto.FLOAT, 2),), version=3, **attributes):
    write(name, operator(name, op, inputs, outputs, version, **attributes), inputs)


def data(classes):
    x = random.normal(size=(60, 4)).astype(numpy.float32)
    total = x[:, 0] - x[:, 1] + 0.5 * x[:, 2] * x[:, 3]
    if classes == 0:
        return x, total
    return x, numpy.digitize(total, numpy.quantile(total, numpy.arange(1, classes) / classes))


def words(labels):
    return numpy.array(["no", "yes", "perhaps"])[labels]


def trees():
    x, y = data(0)
    learned("forest_regressor", RandomForestRegressor(3, max_depth=3, random_state=0), x, y)
    learned("boosted_regressor", GradientBoostingRegressor(n_estimators=3, max_depth=2), x, y)
    learned("forest_regressor_two", RandomForestRegressor(3, max_depth=3, random_state=0), x,
            numpy.stack([y, -2 * y], 1))
    for classes in (2, 3):
        x, y = data(classes)
        forest = RandomForestClassifier(3, max_depth=3, random_state=0)
        learned(f"forest_classifier_{classes}", forest, x, y)
        learned(f"forest_classifier_words_{classes}", forest, x, words(y))
        learned(f"boosted_classifier_{classes}",
                GradientBoostingClassifier(n_estimators=3, max_depth=2), x, y)


# One tree over two features: node 4 asks feature 0, then node 2 feature 1; the others are leaves.
TREE = dict(nodes_treeids=[5] * 5, nodes_nodeids=[4, 1, 2, 3, 0],
            nodes_featureids=[0, 0, 1, 0, 0], nodes_values=[0.25, 0, -0.5, 0, 0],
            nodes_truenodeids=[1, 0, 3, 0, 0], nodes_falsenodeids=[2, 0, 0, 0, 0],
            nodes_missing_value_tracks_true=[1, 0, 0, 0, 0])


def modes(first, second):
    return [f"BRANCH_{first}", "LEAF", f"BRANCH_{second}", "LEAF", "LEAF"]


def votes(kind, ids, weights):
    """Of leaves 0, 3, 1, one after the other: the order is free."""
    each = len(ids)
    return {f"{kind}_treeids": [5] * 3 * each,
            f"{kind}_nodeids": [leaf for leaf in (0, 3, 1) for _ in ids],
            f"{kind}_ids": ids * 3, f"{kind}_weights": weights}


def tree_forms():
    x = numpy.array([[0.25, 9], [0.5, -0.5], [0.5, 0], [0, 0], [numpy.nan, 0], [1, numpy.nan]],
                    numpy.float32)
    for first, second in (("LEQ", "LT"), ("GTE", "GT"), ("EQ", "NEQ")):
        node(f"tree_{first}_{second}".lower(), "TreeEnsembleRegressor", [x],
             n_targets=1, nodes_modes=modes(first, second), **TREE, **votes("target", [0], [1., 2., 3.]))
    plain = dict(TREE, nodes_modes=modes("LEQ", "LT"))
    two = dict(plain, n_targets=2, **votes("target", [1, 0], [.1, .2, .3, .4, .5, .6]))
    for post in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"):
        node(f"tree_regressor_{post}".lower(), "TreeEnsembleRegressor", [x], post_transform=post,
             **two)
    for aggregate in ("AVERAGE", "MIN", "MAX"):
        node(f"tree_{aggregate}".lower(), "TreeEnsembleRegressor", [x], base_values=[.5, .25],
             aggregate_function=aggregate, **two)
    wide = dict(plain, n_targets=1, **votes("target", [0], [1., 2., 3.]))
    for name in ("nodes_values", "target_weights"):
        values = wide.pop(name)
        wide[f"{name}_as_tensor"] = numpy_helper.from_array(numpy.array(values))
    node("tree_as_tensor", "TreeEnsembleRegressor", [x.astype(numpy.float64)], **wide)
    labels = ((TensorProto.INT64, 1), (TensorProto.FLOAT, 2))
    for place in (0, 1):
        for sign, weights in (("positive", [.25, .75, .5]), ("signed", [-.25, .75, -.5])):
            for post in ("NONE", "LOGISTIC"):
                node(f"tree_one_score_{place}_{sign}_{post}".lower(), "TreeEnsembleClassifier", [x],
                     labels, classlabels_int64s=[7, 9], post_transform=post, **plain,
                     **votes("class", [place], weights))
    node("tree_integers", "TreeEnsembleClassifier", [numpy.array([[0, 0], [1, -1], [1, 1]])],
         labels, classlabels_int64s=[7, 9, 11], base_values=[.1, .2, .3], post_transform="SOFTMAX",
         **plain, **votes("class", [0, 1, 2], [.1, .6, .2, .9, .2, .3, .4, .5, .8]))


def two_base_values():
    """Leaves that name class 0 alone, and a base value for each class. ONNX Runtime leaves that of the
    other class out, so it is 0 here."""
    x = numpy.array([[0.25, 9], [0.5, -0.6], [0.5, 0]], numpy.float32)
    labels = ((TensorProto.INT64, 1), (TensorProto.FLOAT, 2))
    for sign, weights in (("positive", [.25, .75, .5]), ("signed", [-.25, .75, -.5])):
        for post in ("NONE", "LOGISTIC", "SOFTMAX"):
            node(f"tree_one_score_0_{sign}_two_base_{post}".lower(), "TreeEnsembleClassifier", [x],
                 labels, classlabels_int64s=[7, 9], base_values=[.125, 0.], post_transform=post,
                 nodes_modes=modes("LEQ", "LT"), **TREE, **votes("class", [0], weights))


def ensemble(name, dtype, x):
    """A TreeEnsemble whose numbers are of a type, and x of that type."""
    def numbers(values, of=dtype):
        return numpy_helper.from_array(numpy.array(values, of))

    x = x.astype(dtype)
    model = operator(name, "TreeEnsemble", [x], ((helper.np_dtype_to_tensor_dtype(x.dtype), 2),), 5,
                     n_targets=2, tree_roots=[0], nodes_featureids=[0, 1, 1],
                     nodes_modes=numbers([0, 6, 3], numpy.uint8),
                     nodes_splits=numbers([.25, 0, -.5]), membership_values=numbers([9, 1.5, numpy.nan]),
                     nodes_truenodeids=[1, 0, 1], nodes_trueleafs=[0, 1, 1],
                     nodes_falsenodeids=[2, 2, 3], nodes_falseleafs=[0, 1, 1],
                     leaf_targetids=[0, 1, 1, 0], leaf_weights=numbers([1, .75, -2.5, 4]))
    return model, [x]


def half_ensemble():
    """ONNX Runtime takes no halves: it is asked about the same numbers as singles."""
    x = numpy.array([[0.25, 9], [0, 1.5], [0.25, 2], [0.5, 0], [0.5, -0.5], [1, -3]])
    model, inputs = ensemble("half", numpy.float16, x)
    write("tree_ensemble_half", model, inputs, lambda outputs: [outputs[0].astype(numpy.float16)],
          asked=ensemble("half", numpy.float32, x))


def machines():
    x, y = data(0)
    learned("linear_regression", LinearRegression(), x, y)
    learned("svr", SVR(), x, y)
    learned("svr_poly", SVR(kernel="poly"), x, y)
    learned("svr_linear", SVR(kernel="linear"), x, y)
    learned("one_class", OneClassSVM(nu=0.3), x)
    for classes in (2, 3):
        x, y = data(classes)
        learned(f"logistic_{classes}", LogisticRegression(), x, y)
        learned(f"logistic_words_{classes}", LogisticRegression(), x, words(y))
        learned(f"svc_{classes}", SVC(decision_function_shape="ovo"), x, y)
        learned(f"svc_sigmoid_{classes}", SVC(kernel="sigmoid", decision_function_shape="ovo"), x,
                y)
    probability()


def probability():
    """ONNX Runtime looks for two probabilities by iteration, and stops 0.002 away from the sigmoid,
    which is where it would end: expected is the sigmoid."""
    x, y = data(2)
    machine = SVC(probability=True, random_state=0).fit(x, y)
    model = to_onnx(machine, x[:1], options={"zipmap": False},
                    target_opset={"": 15, "ai.onnx.ml": 3})
    given = {one.name: one.floats for one in model.graph.node[0].attribute}
    second = 1 / (1 + numpy.exp(given["prob_a"][0] * machine.decision_function(x[:12])
                                - given["prob_b"][0]))
    both = numpy.stack([1 - second, second], 1).astype(numpy.float32)
    write("svc_probability", model, [x[:12]], lambda outputs: [outputs[0], both])


def probabilities():
    """Of more classes than two both end the iteration at the same place."""
    source = numpy.random.default_rng(11)
    for classes in (3, 5):
        x = source.normal(size=(120, 4)).astype(numpy.float32)
        y = (numpy.abs(x).sum(1) * classes / 6).astype(numpy.int64) % classes
        machine = SVC(probability=True, random_state=0).fit(x, y)
        model = to_onnx(machine, x[:1], options={"zipmap": False},
                        target_opset={"": 15, "ai.onnx.ml": 3})
        write(f"svc_probability_{classes}", model, [x[:12]])


def machine_forms():
    x = numpy.array([[-1, .1], [.5, .3], [.125, .5]], numpy.float32)
    labels = ((TensorProto.INT64, 1), (TensorProto.FLOAT, 2))
    for post in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        node(f"linear_one_score_{post}".lower(), "LinearClassifier", [x], labels,
             classlabels_ints=[7, 9], coefficients=[1., .5], intercepts=[.1], post_transform=post)
        node(f"linear_three_{post}".lower(), "LinearClassifier", [x], labels,
             classlabels_ints=[7, 9, 11], coefficients=[1., .5, -1., -.5, .3, 0.],
             intercepts=[.1, -.1, 0.], post_transform=post)
        node(f"linear_regressor_{post}".lower(), "LinearRegressor", [x], targets=2,
             coefficients=[1., .5, -1., -.5], intercepts=[.1, -.1], post_transform=post)
    machine = dict(vectors_per_class=[1, 1], support_vectors=[1., 0., 0., 1.], rho=[.125],
                   kernel_type="LINEAR", kernel_params=[0., 0., 0.])
    for sign, coefficients in (("positive", [1., 2.]), ("signed", [1., -2.])):
        for post in ("NONE", "LOGISTIC"):
            node(f"svm_{sign}_{post}".lower(), "SVMClassifier", [x], labels,
                 classlabels_ints=[7, 9], coefficients=coefficients, post_transform=post, **machine)


def preparation():
    x, y = data(2)
    x[::3, 1] = numpy.nan
    learned("pipeline", make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()), x, y)
    columns = ColumnTransformer([("n", make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]),
                                 ("c", OneHotEncoder(handle_unknown="ignore"), [2])])
    table = numpy.concatenate([x[:, :2].astype(object), words(y)[:, None]], 1)
    columns.fit(table)
    made = to_onnx(columns, initial_types=[("n", FloatTensorType([None, 2])),
                                           ("c", StringTensorType([None, 1]))],
                   target_opset={"": 15, "ai.onnx.ml": 3})
    write("columns", made, [x[:6, :2], numpy.array([["no"], ["yes"], ["other"]] * 2, object)])
    for norm in ("l1", "l2", "max"):
        node(f"normalizer_{norm}", "Normalizer",
             [numpy.array([[3, -4, 0], [0, 0, 0], [-1, -2, -3]], numpy.float32)], norm=norm.upper())
    few = numpy.array([[1, 0], [0, 3]])
    node("imputer_integers", "Imputer", [few], ((TensorProto.INT64, 2),),
         imputed_value_int64s=[7, 8], replaced_value_int64=0)
    node("imputer_one", "Imputer", [few.astype(numpy.float32)], imputed_value_floats=[7.5],
         replaced_value_float=3.0)
    node("one_hot_integers", "OneHotEncoder", [few.astype(numpy.float32)],
         ((TensorProto.FLOAT, 3),), cats_int64s=[3, 1, 2])
    wide = numpy.arange(12, dtype=numpy.float32).reshape(2, 3, 2)
    for name, sizes in (("", [2, 2]), ("_cut", [1, 2]), ("_filled", [2, 4])):
        node(f"feature_vectorizer{name}", "FeatureVectorizer", [few.astype(numpy.float32)] * 2, inputdimensions=sizes)
    node("feature_vectorizer_axes", "FeatureVectorizer", [wide, few.astype(numpy.float32)], inputdimensions=[6, 2])
    node("feature_vectorizer_vectors", "FeatureVectorizer", [few[0], few[1]], inputdimensions=[2, 3])


def map_node(name, op, value, value_type, output, keys=None, **attributes):
    """One operator that reads a map."""
    key_type = TensorProto.STRING if isinstance(next(iter(value)), str) else TensorProto.INT64
    made = helper.make_node(op, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    map_type = helper.make_map_type_proto(key_type, helper.make_tensor_type_proto(value_type, None))
    graph = helper.make_graph([made], name, [helper.make_value_info("x", map_type)],
                              [helper.make_tensor_value_info("y", output, [None, None])])
    write(name, helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)]), [value], keys=keys)


def maps():
    for classes in (2, 3):
        x, y = data(classes)
        for name, labels in (("", y), ("_words", words(y))):
            model = LogisticRegression().fit(x, labels)
            made = to_onnx(model, x[:1], target_opset={"": 15, "ai.onnx.ml": 3})
            write(f"zip_map{name}_{classes}", made, [x[:12]], keys=list(model.classes_))
    words_of = [{"a": 4.0, "c": 8.0}, {"b": -1.5}, {"z": 2.0, "a": 0.25}, {"c": 1.0}]
    vectorizer = DictVectorizer().fit(words_of)
    write("dict_vectorizer_pipeline", to_onnx(
        make_pipeline(vectorizer, StandardScaler(with_mean=False), LinearRegression()).fit(words_of, [1, 2, 3, 4]),
        initial_types=[("x", DictionaryType(StringTensorType([1]), FloatTensorType([])))],
        target_opset={"": 15, "ai.onnx.ml": 1}), [words_of[2]], keys=vectorizer.feature_names_)
    map_node("dict_vectorizer", "DictVectorizer", {"a": 4.0, "c": 8.0}, TensorProto.FLOAT, TensorProto.FLOAT,
             ["a", "c", "b", "z"], string_vocabulary=["a", "c", "b", "z"])
    map_node("dict_vectorizer_integers", "DictVectorizer", {7: 1.5, -1: 2.5}, TensorProto.FLOAT, TensorProto.FLOAT,
             [-1, 0, 7], int64_vocabulary=[-1, 0, 7])
    given = {3: 1.5, 1: 2.5, 4: -7.25}
    for to, output in (("FLOAT", TensorProto.FLOAT), ("INT64", TensorProto.INT64)):
        map_node(f"cast_map_dense_{to}".lower(), "CastMap", given, TensorProto.FLOAT, output, cast_to=f"TO_{to}")
        map_node(f"cast_map_sparse_{to}".lower(), "CastMap", given, TensorProto.FLOAT, output, list(range(6)),
                 cast_to=f"TO_{to}", map_form="SPARSE", max_map=6)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    trees()
    tree_forms()
    two_base_values()
    half_ensemble()
    machines()
    probabilities()
    machine_forms()
    preparation()
    maps()


main()
