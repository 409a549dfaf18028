// Shows the OpenAPI document. Requests from the page use the session and its CSRF token.
"use strict";

const place = document.getElementById("swagger-ui");

// Convert the document to OpenAPI 3.0, because Swagger UI resolves version 3.1 five times slower.
// The document uses only one feature of 3.1: the notation of nullable values.
function older(_key, part) {
  if (Array.isArray(part?.type) && part.type.includes("null")) {
    const [type] = part.type.filter((one) => one !== "null");
    return { ...part, type, nullable: true };
  }
  for (const union of ["oneOf", "anyOf"]) {
    const kept = Array.isArray(part?.[union]) && part[union].filter((one) => one.type !== "null");
    if (kept && kept.length < part[union].length) return { ...part, [union]: kept, nullable: true };
  }
  return part;
}

function sent(request) {
  // The document contains the public address, but this page may have another one.
  const address = new URL(request.url, location.href);
  request.url = location.origin + address.pathname + address.search;
  if (request.method && request.method !== "GET") {
    request.headers[place.dataset.csrfHeader] = place.dataset.csrf;
  }
  return request;
}

async function show() {
  const answer = await fetch(place.dataset.document, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  const spec = JSON.parse(await answer.text(), older);
  SwaggerUIBundle({
    spec: { ...spec, openapi: "3.0.3" },
    dom_id: "#swagger-ui",
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    deepLinking: true,
    validatorUrl: null,
    requestInterceptor: sent,
  });
}

show().catch((error) => {
  place.textContent = `The description could not be read: ${error.message} Reload the page.`;
});
