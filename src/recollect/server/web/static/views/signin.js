// Signing in with a key.

import { post } from "../core/api.js";
import { h, refill } from "../core/dom.js";

/** The form; `entered` is called when somebody is in. `told` says why it is shown, if there is a reason. */
export function form(entered, told) {
  const key = h("input", {
    type: "password", name: "key", required: true, autocomplete: "current-password", autofocus: true,
  });
  const problem = h("p.problem", { role: "alert" });
  async function enter(event) {
    event.preventDefault();
    refill(problem);
    try {
      await post("session", { key: key.value.trim() });
    } catch (error) {
      refill(problem, error.message);
      return key.select();
    }
    await entered();
  }
  return h("form.signin.card", { onsubmit: enter },
    h("h1", "Recollect"), h("p", told ?? "Sign in to see what is remembered of you."),
    h("label", "API key", key), problem, h("button.primary", { type: "submit" }, "Sign in"),
    h("p.quiet", "It begins with ", h("code", "rk_"), ". Whoever runs the server makes one with ",
      h("code", "recollect keys create --user NAME"), ". It is not kept in this browser."));
}
