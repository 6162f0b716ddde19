// What the address says: the seat and view, and once the nonce. This module is imported first, so that the nonce leaves
// the address bar before anything else runs.

const [, , seat, view] = location.pathname.split("/");
export { seat, view };
export const base = `/v/${seat}/${view}`;

// take returns the nonce of the fragment ("" if there is none) and removes it from the address bar and from the
// history entry, so that it is in no bookmark, screenshot or copied address.
export function take() {
  const nonce = location.hash.slice(1);
  if (location.hash || location.search) history.replaceState(null, "", location.pathname);
  return nonce;
}

export const opened = take();
