import { hideUrlSecrets } from '../config/url-secrets.ts';
import type { HttpResponse } from '../runtime/http-request.ts';

/** Characters that are kept of what a node says. */
const KEPT_CHARACTERS = 200;
/** Characters that are looked at: the text may have megabytes. */
const READ_CHARACTERS = 10_000;
/** Shorter parts of a URL hold no key, and are words of their own, such as `v2` or `rpc`. */
const MIN_KEY_CHARACTERS = 6;

/**
 * What a person reads of a response that is no answer: its status, then where it redirects to, or its text without
 * tags. Keys that the node repeats are hidden.
 *
 * @param url of the node
 */
export function describeResponse({ status, headers, text }: HttpResponse, url: string): string {
  const { location } = headers;
  const isRedirected = typeof location === 'string' && URL.canParse(location, url);
  const words = isRedirected ? `redirects to ${new URL(location, url).origin}` : textWords(text, url);
  return `status ${status}${words && `: ${words}`}`;
}

/** The text of a node on one line, without tags and keys. */
export function textWords(text: string, url: string): string {
  const visible = text.slice(0, READ_CHARACTERS).replace(/<(script|style)\b.*?<\/\1>|<[^<>]*>/gis, ' ');
  const line = hideUrlSecrets(visible).replace(/[\p{Cc}\s]+/gu, ' ');
  return hideKeys(line, url).trim().slice(0, KEPT_CHARACTERS);
}

function hideKeys(text: string, url: string): string {
  const { username, password, pathname, searchParams } = new URL(url);
  const parts = [username, password, ...pathname.split('/'), ...searchParams.values()];
  const keys = parts.flatMap((part) => [part, decoded(part)]).filter(({ length }) => length >= MIN_KEY_CHARACTERS);
  return keys.reduce((hidden, key) => hidden.replaceAll(key, '…'), text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // A percent sign of its own.
  }
}
