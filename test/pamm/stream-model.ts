import type { Registration } from '../../builders/submit/stream/stream-order.ts';

/** A numbered update of one uuid; `content` stands for everything else in it. */
export type NumberedUpdate = { readonly uuid: string; readonly seq: bigint; readonly content: string };

/** The newest update of each uuid. */
export type StreamModel = ReadonlyMap<string, NumberedUpdate>;

/**
 * The rule of a quote stream in plain terms, as a reference for `register.lua` and `admit.lua`: a higher sequence
 * number replaces, whatever it carries; the same update may come again; anything else is older.
 */
export function registerInModel(
  model: StreamModel,
  update: NumberedUpdate,
): { readonly model: StreamModel; readonly registration: Registration } {
  const newest = model.get(update.uuid);
  if (newest && newest.seq === update.seq && newest.content === update.content) return { model, registration: 'same' };
  if (newest && update.seq <= newest.seq) return { model, registration: 'older' };
  return { model: new Map(model).set(update.uuid, update), registration: 'newest' };
}
