// Asks the browser to create or use a passkey, and submits the result with the form.
"use strict";

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));

const toText = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const described = (keys) => (keys ?? []).map((one) => ({ ...one, id: toBytes(one.id) }));

async function created(options) {
  const made = await navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: toBytes(options.challenge),
      user: { ...options.user, id: toBytes(options.user.id) },
      excludeCredentials: described(options.excludeCredentials),
    },
  });
  return {
    id: made.id,
    rawId: toText(made.rawId),
    type: made.type,
    response: {
      clientDataJSON: toText(made.response.clientDataJSON),
      attestationObject: toText(made.response.attestationObject),
      transports: made.response.getTransports?.() ?? [],
    },
  };
}

async function used(options) {
  const found = await navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: toBytes(options.challenge),
      allowCredentials: described(options.allowCredentials),
    },
  });
  return {
    id: found.id,
    rawId: toText(found.rawId),
    type: found.type,
    response: {
      clientDataJSON: toText(found.response.clientDataJSON),
      authenticatorData: toText(found.response.authenticatorData),
      signature: toText(found.response.signature),
    },
  };
}

for (const button of document.querySelectorAll("button[data-passkey]")) {
  const problem = button.form.querySelector("[data-passkey-problem]");
  button.addEventListener("click", async () => {
    problem.hidden = true;
    button.disabled = true;
    try {
      const { publicKey } = JSON.parse(button.dataset.options);
      const answer = button.dataset.passkey === "create" ? await created(publicKey) : await used(publicKey);
      button.form.elements.passkey.value = JSON.stringify(answer);
      button.form.submit();
    } catch {
      problem.hidden = false;
      button.disabled = false;
    }
  });
}
