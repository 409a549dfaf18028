"""The module types that come with Valkyr, and where each is written."""

BUILTIN: dict[str, str] = {
    "flow.noop": "runners.modules.flow:Noop",
    "flow.if": "runners.modules.flow:If",
    "flow.switch": "runners.modules.flow:Switch",
    "flow.fail": "runners.modules.flow:Fail",
    "flow.loop": "runners.modules.containers:Loop",
    "flow.map": "runners.modules.containers:Map",
    "flow.delay": "runners.modules.waits.delay:Delay",
    "flow.approval": "runners.modules.waits.approval:Approval",
    "flow.subworkflow": "runners.modules.subworkflow:Subworkflow",
    "flow.set_variables": "runners.modules.flow:SetVariables",
    "data.set": "runners.modules.data:Set",
    "data.csv_parse": "runners.modules.csv_parse:CsvParse",
    "data.jmespath": "runners.modules.data:Jmespath",
    "data.template": "runners.modules.data:Template",
    "data.validate": "runners.modules.validate:Validate",
    "http.request": "runners.modules.network.http_request:HttpRequest",
    "email.send": "runners.modules.mail.send:EmailSend",
    "file.read": "runners.modules.files.modules:FileRead",
    "file.write": "runners.modules.files.modules:FileWrite",
}
