/** Adds the key to other headers, if there is one. */
export const headersOf = (apiKey: string | undefined, others: Readonly<Record<string, string>>) => ({
  ...others,
  ...(apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
});
