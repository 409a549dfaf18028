"""The module types that come with Valkyr, and where each is written."""

BUILTIN: dict[str, str] = {
    "flow.noop": "runners.modules.flow:Noop",
    "flow.if": "runners.modules.flow:If",
    "flow.switch": "runners.modules.flow:Switch",
    "flow.fail": "runners.modules.flow:Fail",
    "flow.set_variables": "runners.modules.flow:SetVariables",
    "data.set": "runners.modules.data:Set",
    "data.jmespath": "runners.modules.data:Jmespath",
    "data.template": "runners.modules.data:Template",
}
