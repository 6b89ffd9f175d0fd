/** Gives what the browser keeps under a key; null without it, and for readers who forbid pages to keep anything. */
export function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Lets the browser keep a text; where that is forbidden, it lasts as long as the page. */
export function keep(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // The page shows it all the same.
  }
}
