"""Turn rows into messages: pack segments together and send them to the broker."""
