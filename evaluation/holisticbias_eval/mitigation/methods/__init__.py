"""The mitigation methods, one file each."""

from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.mitigation.methods.add import Add
from holisticbias_eval.mitigation.methods.cada import Cada
from holisticbias_eval.mitigation.methods.ctda import Ctda
from holisticbias_eval.mitigation.methods.lmd import Lmd
from holisticbias_eval.mitigation.methods.self_chat import SelfChat
from holisticbias_eval.mitigation.methods.style_equality import StyleEquality

METHODS: dict[str, Method] = {
    "lmd": Lmd(),
    "add": Add(),
    "ctda": Ctda(),
    "cada": Cada(),
    "style_equality": StyleEquality(),
    "self_chat": SelfChat(),
}
