"""From rows to messages: pack segments together and send them to the broker."""
