// Shows the OpenAPI document; requests tried from the page use the session and its CSRF token.
"use strict";

const place = document.getElementById("swagger-ui");

SwaggerUIBundle({
  url: place.dataset.document,
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    // The document names the public address; this page may be open under another one.
    const address = new URL(request.url, location.href);
    request.url = location.origin + address.pathname + address.search;
    if (request.method && request.method !== "GET") {
      request.headers["X-CSRFToken"] = place.dataset.csrf;
    }
    return request;
  },
});
