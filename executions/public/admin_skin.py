"""Classes, widgets and templates of admin pages: Unfold's if it is installed, or else Django's."""

from executions.admin.skin import (
    MEDIA,
    ActionVariant,
    CheckboxSelectMultiple,
    DialogForm,
    IntegerInput,
    PasswordInput,
    Select,
    Textarea,
    TextInput,
    dialog,
    display,
)

__all__ = [
    "MEDIA",
    "ActionVariant",
    "CheckboxSelectMultiple",
    "DialogForm",
    "IntegerInput",
    "PasswordInput",
    "Select",
    "TextInput",
    "Textarea",
    "dialog",
    "display",
]
