/** A job's data as the dashboard shows it: a signed transaction can be sent by anyone who sees it, so only its length is shown. */
export function hideTransactions(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('update' in data)) return data;
  const { update } = data;
  if (typeof update !== 'object' || update === null || !('tx' in update)) return data;
  return { ...data, update: { ...update, tx: describeTransaction(update.tx) } };
}

function describeTransaction(tx: unknown): string {
  return tx === '0x' ? 'cancel' : `signed transaction of ${(String(tx).length - 2) / 2} bytes`;
}
