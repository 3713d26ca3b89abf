// The REST API, as the page asks it. The session's cookie says who is asking.

const ROOT = "api/v1/";

/** An answer that says what went wrong and what to do about it. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** Told whenever an answer says that nobody is signed in. */
export const signedOut = new EventTarget();

/** Read something; `query` has values, or lists of them; empty ones are left out. */
export const get = (path, query, signal) => ask("GET", path, { query, signal });
export const post = (path, body, query, signal) => ask("POST", path, { body, query, signal });
export const put = (path, body, query) => ask("PUT", path, { body, query });
export const patch = (path, body, query) => ask("PATCH", path, { body, query });
export const remove = (path, query, body) => ask("DELETE", path, { query, body });

/** Send a file as it is, while it is read. */
export const upload = (path, file) => ask("POST", path, { body: file, type: "application/x-ndjson" });

/** An id or a name as a part of a path. */
export const part = encodeURIComponent;

/** Where something is that the browser itself fetches: a download. */
export const link = (path, query) => address(ROOT + path, query);

/** A path with a query; what is empty is left out. */
export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

async function ask(method, path, { query, body, signal, type }) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-Recollect-Page"] = "1"; // no form and no page from elsewhere can send it
  if (body !== undefined) headers["Content-Type"] = type ?? "application/json";
  const sent = body === undefined || type ? body : JSON.stringify(body);
  const request = { method, headers, signal, body: sent };
  const answer = await reach(address(ROOT + path, query), request);
  if (answer.status === 401) signedOut.dispatchEvent(new Event("signedout"));
  if (!answer.ok) throw new Problem(answer.status, await told(answer));
  return answer.status === 204 ? null : answer.json();
}

async function reach(where, request) {
  try {
    return await fetch(where, { ...request, credentials: "same-origin", cache: "no-store", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Look whether it is running, and try again.");
  }
}

async function told(answer) {
  try {
    return (await answer.json()).detail;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}
