"""scikit-learn's models and pipelines, by skl2onnx."""
import numpy as np
from skl2onnx import to_onnx
from sklearn import (base, cluster, compose, decomposition, ensemble, feature_selection, gaussian_process, impute, linear_model,
                     naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree)

from exporting import Case

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 6)).astype(np.float32)
LABELS = ((X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64) + (X[:, 3] > 1))
Y = (X[:, 0] * 2 + np.sin(X[:, 1])).astype(np.float32)


def models():
    scale, pipe = preprocessing.StandardScaler, pipeline.make_pipeline
    return {
        "StandardScaler, LogisticRegression": (pipe(scale(), linear_model.LogisticRegression()), LABELS),
        "SimpleImputer, MinMaxScaler, SVC": (pipe(impute.SimpleImputer(), preprocessing.MinMaxScaler(),
                                                  svm.SVC(probability=True)), LABELS),
        "PolynomialFeatures, Ridge": (pipe(preprocessing.PolynomialFeatures(2), linear_model.Ridge()), Y),
        "PCA, KNeighborsClassifier": (pipe(decomposition.PCA(3), neighbors.KNeighborsClassifier()), LABELS),
        "ColumnTransformer": (pipe(compose.ColumnTransformer([("a", scale(), [0, 1]), ("b", preprocessing.RobustScaler(),
                                                               [2, 3, 4, 5])]), linear_model.LogisticRegression()), LABELS),
        "SelectKBest, GaussianNB": (pipe(feature_selection.SelectKBest(k=3), naive_bayes.GaussianNB()), LABELS),
        "RandomForestClassifier": (ensemble.RandomForestClassifier(20), LABELS),
        "RandomForestRegressor": (ensemble.RandomForestRegressor(20), Y),
        "ExtraTreesClassifier": (ensemble.ExtraTreesClassifier(20), LABELS),
        "GradientBoostingClassifier": (ensemble.GradientBoostingClassifier(n_estimators=20), LABELS),
        "GradientBoostingRegressor": (ensemble.GradientBoostingRegressor(n_estimators=20), Y),
        "HistGradientBoostingClassifier": (ensemble.HistGradientBoostingClassifier(max_iter=20), LABELS),
        "AdaBoostClassifier": (ensemble.AdaBoostClassifier(n_estimators=10), LABELS),
        "BaggingClassifier": (ensemble.BaggingClassifier(n_estimators=5), LABELS),
        "VotingClassifier": (ensemble.VotingClassifier([("a", linear_model.LogisticRegression()),
                                                        ("b", tree.DecisionTreeClassifier())], flatten_transform=False), LABELS),
        "IsolationForest": (ensemble.IsolationForest(n_estimators=10), None),
        "DecisionTreeRegressor": (tree.DecisionTreeRegressor(), Y),
        "MLPClassifier": (neural_network.MLPClassifier(max_iter=50), LABELS),
        "LinearSVC": (svm.LinearSVC(), LABELS),
        "SVR": (svm.SVR(), Y),
        "SGDClassifier": (linear_model.SGDClassifier(), LABELS),
        "KMeans": (cluster.KMeans(4, n_init=1), None),
        "GaussianProcessRegressor": (gaussian_process.GaussianProcessRegressor(), Y),
        "KBinsDiscretizer": (preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), None),
    }


def cases():
    def case(name, model, target):
        def export(path):
            model.fit(X, target)
            options = {id(model): {"zipmap": False}} if base.is_classifier(model) and not isinstance(model, svm.LinearSVC) else None
            with open(path, "wb") as file:
                file.write(to_onnx(model, X[:1], options=options, target_opset={"": 18, "ai.onnx.ml": 3}).SerializeToString())
            return [X[:40]]
        return Case(name, "scikit-learn", "skl2onnx", export)
    return [case(name, *made) for name, made in models().items()]
