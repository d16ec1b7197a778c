// Adds comfort to pages that work without it: search while typing, lines to copy.
"use strict";
for (const form of document.querySelectorAll("form[data-live]")) {
  const results = document.getElementById(form.dataset.live);
  let timer = 0, latest = 0;
  const search = async () => {
    const asked = ++latest, fields = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) fields.set(name, value);
    const url = fields.size ? `${form.action}?${fields}` : form.action;
    const answer = await fetch(url).catch(() => null);
    if (asked !== latest) return; // the answer to what was typed before
    if (!answer || !answer.ok) return form.submit(); // the page of the error, or the login
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById(results.id);
    if (!found) return form.submit();
    results.replaceChildren(...found.childNodes);
    history.replaceState(null, "", url);
    document.title = page.title;
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 200);
  });
}
for (const line of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break; // only where the connection is safe
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(line.textContent);
    button.textContent = "Copied";
  });
  line.after(button);
}
