// A button beside each piece of code that copies it
for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${block.firstElementChild.getAttribute("aria-label")}`);
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
      said.textContent = "Copied";
    } catch {
      said.textContent = "Select the text and copy it: the browser does not allow this page to.";
    }
    setTimeout(() => (said.textContent = ""), 4000);
  });
  block.append(button, said);
}
