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
    if (request.method && request.method !== "GET") {
      request.headers["X-CSRFToken"] = place.dataset.csrf;
    }
    return request;
  },
});
