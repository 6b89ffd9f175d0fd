/** A URL without user, password, query and fragment, in which keys may stand; otherwise as it was written. */
export const withoutSecrets = (url: string): string => url.replace(/^(\w+:\/\/)[^/?#]*@/, '$1').replace(/[?#].*$/s, '');
