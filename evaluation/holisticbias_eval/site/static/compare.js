// Choose two releases and open the page of their differences
const form = document.getElementById("compare");
const output = form.querySelector("output");
const versions = [...form.elements.old.options].map((option) => option.value);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const pair = [form.elements.old.value, form.elements.new.value];
  if (pair[0] === pair[1]) {
    output.textContent = "Choose two different releases.";
    return;
  }
  pair.sort((a, b) => versions.indexOf(a) - versions.indexOf(b));
  location.assign(`${pair[0]}-to-${pair[1]}.html`);
});
