const URLS = /\b((?:https?|wss?|postgres(?:ql)?|rediss?):\/\/)(?:[^\s/"'\\]*@)?([^\s/"'\\?#]*)[^\s"'\\]*/gi;

/**
 * Cuts every URL in a text to its scheme and host: paths, queries and credentials hold the keys of nodes and stores.
 */
export function hideUrlSecrets(text: string): string {
  return text.replace(URLS, '$1$2');
}

/** A URL without user, password, query and fragment, which may hold keys. The rest stays as it was written. */
export const withoutSecrets = (url: string): string => url.replace(/^(\w+:\/\/)[^/?#]*@/, '$1').replace(/[?#].*$/s, '');
