import type pg from 'pg';
import type { Received } from '../../devnet/mock-builders/behaviour.ts';
import type { Acknowledgement, ChaosBuilder, QuoteUpdates } from './quote-updates.ts';

/** How long a request that was in flight when its answer was given may take to be seen by the builder. */
const IN_FLIGHT_MS = 1_500;
/** Audit entries that were on their way when the Redis or the worker that carried them was killed. */
const AUDIT_IN_FLIGHT_MS = 2_000;

const receivedAtMs = ({ atNs }: Received): number => Number(BigInt(atNs) / 1_000_000n);

/**
 * What was lost, duplicated or put out of order on the way to the builders, and who got nothing;
 * empty when all is well.
 */
export function checkDeliveries(updates: QuoteUpdates, builders: readonly ChaosBuilder[]): string[] {
  return builders.flatMap((builder) => {
    const acknowledged = updates.acknowledgements.filter(({ builder: id }) => id === builder.id);
    const isSent = updates.makers.some(({ plan }) => plan.kind === builder.kind);
    return [
      ...(!isSent || acknowledged.length > 0 ? [] : [`${builder.id} acknowledged nothing`]),
      ...lost(builder, acknowledged),
      ...(builder.transport === 'bundle' ? sentAgain(builder, acknowledged) : twiceOnOneConnection(builder)),
      ...disordered(builder, updates),
    ];
  });
}

/** Identity of an update at a builder: streams and relayers report the number, bundles only the block. */
function keyOf({ transport }: ChaosBuilder, received: Received): string {
  return transport === 'bundle' ? received.blockNumber : `${received.replacementUuid} ${received.replacementSeqNumber}`;
}

function keyOfAcknowledgement({ transport }: ChaosBuilder, { uuid, seq, block }: Acknowledgement): string {
  return transport === 'bundle' ? String(block) : `${uuid} ${seq}`;
}

/** Acknowledged to the client, but never received. */
function lost(builder: ChaosBuilder, acknowledged: readonly Acknowledgement[]): string[] {
  const received = new Set(builder.mock.state.received.map((each) => keyOf(builder, each)));
  return acknowledged
    .map((each) => keyOfAcknowledgement(builder, each))
    .filter((key) => !received.has(key))
    .map((key) => `${builder.id} never received ${key}, which was acknowledged`);
}

/** A bundle that the builder took and the client knows of is not sent again. */
function sentAgain(builder: ChaosBuilder, acknowledged: readonly Acknowledgement[]): string[] {
  const answeredAt = new Map(acknowledged.map((each) => [String(each.block), each.answeredAtMs]));
  return builder.mock.state.received
    .filter(
      (each) => receivedAtMs(each) > (answeredAt.get(each.blockNumber) ?? Number.POSITIVE_INFINITY) + IN_FLIGHT_MS,
    )
    .map((each) => `${builder.id} received bundle ${each.blockNumber} again after its acceptance`);
}

/** Only a new connection justifies sending an update again: what was not acknowledged on the old one. */
function twiceOnOneConnection(builder: ChaosBuilder): string[] {
  const seen = new Set<string>();
  const violations: string[] = [];
  for (const each of builder.mock.state.received) {
    const key = `${each.connection} ${keyOf(builder, each)}`;
    if (seen.has(key)) violations.push(`${builder.id} received ${key} twice on one connection`);
    seen.add(key);
  }
  return violations;
}

/** No builder gets an older update of a quote after a newer one. */
function disordered(builder: ChaosBuilder, { makers }: QuoteUpdates): string[] {
  const own = makers.filter(({ plan }) => plan.kind === builder.kind);
  return own.flatMap((maker) => {
    const numbers = builder.mock.state.received.flatMap((each) => {
      if (builder.transport !== 'bundle') {
        return each.replacementUuid === maker.uuid ? [Number(each.replacementSeqNumber)] : [];
      }
      const seq = Number(each.blockNumber) - maker.blockOf(0);
      return seq > 0 && seq <= maker.seq ? [seq] : [];
    });
    const isOrdered = numbers.every((seq, index) => index === 0 || seq >= (numbers[index - 1] ?? 0));
    return isOrdered ? [] : [`${builder.id} got updates of ${maker.uuid} out of order: ${numbers.join(' ')}`];
  });
}

/**
 * Acknowledgements that the audit trail does not have, but for those that were in flight to it when Redis or a worker
 * was killed.
 *
 * @param killedAtMs of Redis and the workers, Unix milliseconds
 */
export async function checkAudit(
  database: pg.ClientBase,
  { acknowledgements }: QuoteUpdates,
  killedAtMs: readonly number[],
): Promise<string[]> {
  const { rows } = await database.query<{ key: string }>(
    `SELECT split_part(provider, ':', 1) || ' ' || replacement_uuid || ' ' || replacement_seq_number AS key
     FROM read_model.pamm_answer JOIN read_model.pamm_submission USING (submission_id) WHERE outcome = 'accepted'`,
  );
  const audited = new Set(rows.map(({ key }) => key));
  return acknowledgements
    .filter(({ builder, uuid, seq }) => !audited.has(`${builder} ${uuid} ${seq}`))
    .filter(({ answeredAtMs }) => !killedAtMs.some((at) => Math.abs(at - answeredAtMs) < AUDIT_IN_FLIGHT_MS))
    .map(({ builder, uuid, seq }) => `the audit trail lacks ${builder} ${uuid} ${seq}`);
}
