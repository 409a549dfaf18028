// Copy the light half, and show the copy in the dark theme.
const light = document.querySelector(".theme");
const dark = light.cloneNode(true);
dark.className = "theme dark";
dark.setAttribute("aria-label", "Dark");
dark.querySelector("h1").textContent = "Dark";
light.after(dark);
