"use strict";
// Files go one by one in a stream of their own, so that a page stays quick whatever their size; without script the form sends them.

const form = document.getElementById("upload");

if (form) {
  const input = form.querySelector("input[type=file]");
  const drop = document.getElementById("drop");
  const chosen = document.getElementById("chosen");
  const problems = document.getElementById("upload-problems");
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;

  const show = () => {
    chosen.replaceChildren(...[...input.files].map((file) => {
      const line = document.createElement("li");
      line.textContent = `${file.name} · ${file.size.toLocaleString()} B`;
      return line;
    }));
    chosen.hidden = input.files.length === 0;
  };

  // What the rules name, or where they name nothing the sentence about all of it.
  const sentences = (content) => (content.problems?.length ? content.problems.map((one) => one.message ?? one) : [content.message ?? form.dataset.failed]);

  const post = async (address) => {
    const answer = await fetch(address, { method: "POST", headers: { "X-CSRFToken": token }, credentials: "same-origin" });
    const content = await answer.json();
    if (!answer.ok) throw new Refusal(sentences(content));
    return content;
  };

  const put = (address, file, progressed) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", address + encodeURIComponent(file.name));
    request.setRequestHeader("X-CSRFToken", token);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => progressed(event.loaded));
    request.addEventListener("load", () => (request.status < 300 ? resolve() : reject(new Refusal(said(request)))));
    request.addEventListener("error", () => reject(new Refusal([form.dataset.failed])));
    request.send(file);
  });

  const said = (request) => {
    try {
      return sentences(JSON.parse(request.responseText));
    } catch {
      return [form.dataset.failed];
    }
  };

  class Refusal extends Error {
    constructor(sentences) {
      super("refused");
      this.sentences = sentences;
    }
  }

  const send = async () => {
    const files = [...input.files];
    const large = files.filter((file) => file.size > Number(form.dataset.limit));
    if (large.length) throw new Refusal(large.map((file) => `${file.name}: ${form.dataset.tooLarge}`));
    const whole = files.reduce((sum, file) => sum + file.size, 0) || 1;
    const bar = document.getElementById("progress");
    document.getElementById("sending").hidden = false;
    const begun = await post(form.dataset.begin);
    let done = 0;
    for (const file of files) {
      await put(begun.files, file, (loaded) => { bar.value = (done + loaded) / whole; });
      done += file.size;
    }
    location.href = (await post(begun.finish)).page;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button.main");
    button.disabled = true;
    problems.hidden = true;
    try {
      await send();
    } catch (refusal) {
      problems.replaceChildren(...(refusal.sentences ?? [form.dataset.failed]).map((sentence) => {
        const line = document.createElement("p");
        line.textContent = sentence;
        return line;
      }));
      problems.hidden = false;
      document.getElementById("sending").hidden = true;
      button.disabled = false;
    }
  });

  input.addEventListener("change", show);
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop") {
        input.files = event.dataTransfer.files;
        show();
      }
    });
  }
}
