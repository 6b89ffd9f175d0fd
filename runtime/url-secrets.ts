const URLS = /\b((?:https?|wss?|postgres(?:ql)?|rediss?):\/\/)(?:[^\s/"'\\]*@)?([^\s/"'\\?#]*)[^\s"'\\]*/gi;

/** Cuts every URL in a text to its scheme and host: paths, queries and credentials hold the keys of nodes and stores. */
export function hideUrlSecrets(text: string): string {
  return text.replace(URLS, '$1$2');
}
