import { numberToHex } from 'viem';
import type { LiveMarket } from '../../devnet/live/live-market.fixture.ts';
import { BOUNDS } from '../../quoting/live/frame.ts';

const word = (value: number) => numberToHex(value, { size: 32 });
const account = (value: number) => numberToHex(value, { size: 20 });
const VENUE = account(1);

/** Words of accounts that nothing reads. @param ahead how far its block is above the one that is being built */
function frame({ builder }: LiveMarket, accounts: number, ahead: number, round: number): string {
  const number = Number(builder.block().number) + ahead;
  const slots = { [word(1)]: word(round) };
  const all = Array.from({ length: accounts }, (_, each) => [account(each + 2), { stateDiff: slots }]);
  return JSON.stringify({
    slot: 1,
    blockNumber: number,
    timestamp: round,
    [VENUE]: { stateOverride: Object.fromEntries(all) },
  });
}

/** What a hostile source sends: megabytes, too many accounts, and blocks that are long past or far ahead. */
export function* hostileFrames(market: LiveMarket): Generator<string> {
  for (let round = 1; ; round += 1) {
    yield 'x'.repeat(2 * BOUNDS.bytes - 1);
    yield 'x'.repeat(BOUNDS.bytes);
    yield frame(market, 10_000, 0, round);
    for (const ahead of [-3, -1, 0, 2, 1_000]) yield frame(market, 50, ahead, round);
  }
}
