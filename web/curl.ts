const HEADER = `-H 'Content-Type: application/json'`;

/** Quotes a text as one word of any shell. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes a request as a line for a shell, without a key. @param path with its query, below the origin */
export function curlOf(origin: string, path: string, body?: unknown): string {
  const url = shellQuote(`${origin}${path}`);
  return body === undefined ? `curl -s ${url}` : `curl -s ${HEADER} -d ${shellQuote(JSON.stringify(body))} ${url}`;
}
