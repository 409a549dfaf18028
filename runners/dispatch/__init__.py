"""Turn rows into messages: pack segments together, and send the messages to the broker."""
