import { BSC, ETHEREUM } from './rig.ts';
import { newUuid, signedTx } from './sample-updates.ts';

/** Unix seconds a little ahead: an expiry that a live BSC quote may have. */
export const expiry = (): number => Math.floor(Date.now() / 1000) + 4;

/** Valid bodies for both kinds of chain, each of a new uuid, changed as given. */
export async function createBodies() {
  const [ethereumTx, bscTx] = await Promise.all([signedTx(ETHEREUM), signedTx(BSC)]);
  const common = () => ({ blockNumber: 7, replacementUuid: newUuid(), replacementSeqNumber: 1 });
  return {
    ethereumTx,
    bscTx,
    ethereum: (changes: Record<string, unknown> = {}) => ({
      ...common(),
      tx: ethereumTx,
      quoteAddress: `0x${'AA'.repeat(20)}`,
      poolAddresses: [`0x${'bb'.repeat(20)}`, 'cc'.repeat(20)],
      assetPairs: [`0x${'dd'.repeat(40)}`],
      ...changes,
    }),
    bsc: (changes: Record<string, unknown> = {}) => ({ ...common(), tx: bscTx, maxTimestamp: expiry(), ...changes }),
  };
}

/** Status and body of a response, the body as JSON or as the plain text that it is. */
export async function outcome(response: Response): Promise<[number, unknown]> {
  const text = await response.text();
  const isJson = response.headers.get('Content-Type')?.startsWith('application/json');
  return [response.status, isJson ? JSON.parse(text) : text];
}
