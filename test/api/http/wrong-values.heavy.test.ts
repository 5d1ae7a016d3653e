/** Every field of every operation, sent wrong in many ways: the refusal names the field and says what is accepted there. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { z } from 'zod';
import type { OperationRow } from '../../../src/contract/operation.ts';
import { type OperationName, operations } from '../../../src/contract/operations.ts';
import { Api, type Call } from '../../support/api.ts';
import { newAgent, newBoard, post } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { fitting, jsonSchemaOf } from '../../support/fuzz/values.ts';
import { goodCall } from '../../support/good-calls.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { newDelegation } from '../../support/state.ts';
import { pairOn, propose, select } from '../pairing/cast.ts';

const names = (Object.keys(operations) as OperationName[]).filter((name) => name !== 'openStream');
const partOf = (name: OperationName, part: 'params' | 'query' | 'body') =>
  (operations[name] as Partial<Record<typeof part, z.ZodType>>)[part];
const fieldsOf = (schema: z.ZodType) => Object.keys(jsonSchemaOf(schema).properties ?? {});

/** Of all kinds, among them too short, too long, too small and too large for whatever is bounded. */
const wrong: unknown[] = [null, true, 7.5, -1, 1e15, '', ' ', 'No such thing!', 'x'.repeat(40_000), [], {}];
const long = Array.from({ length: 1_100 }, () => 'No such thing!');

type Path = (string | number)[];
const written = (path: Path) => path.join('.');
/** All entries of a list are one place, and so are all roles, whose names somebody made up. */
const placeOf = (field: string) => field.replaceAll(/\.\d+/g, '.0').replace(/^roles\.[^.]+/, 'roles.*');

/** Every place within a value. */
function pathsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...at, Array.isArray(value) ? Number(key) : key];
    return [path, ...pathsIn(inner, path)];
  });
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[key!] = rest.length > 0 ? replaced(copy[key!], rest, by) : by;
  return copy;
}

/** For each place that values of the schema have, one that has it. */
function placesOf(schema: z.ZodType): Map<string, { value: unknown; path: Path }> {
  const found = new Map<string, { value: unknown; path: Path }>();
  const values = fc.sample(fitting(jsonSchemaOf(schema), { texts: [], secrets: [] }), { numRuns: 300, seed: 7 });
  for (const value of values.filter((each) => schema.safeParse(each).success))
    for (const path of pathsIn(value)) {
      const place = placeOf(written(path));
      if (!found.has(place)) found.set(place, { value, path });
    }
  expect([...found.keys()]).to.include.members(fieldsOf(schema));
  return found;
}

forEachDatabase('a wrong value', (engine) => {
  let server: TestServer;
  let callers: Record<string, Api>;
  let stage: { board: string; message: string };
  before(async () => {
    server = await startTestServer(engine);
    const { name: board } = await newBoard(server.dana, { name: 'stage' });
    stage = { board, message: (await post(server.dana, board, 'hello')).id };
    const pair = await pairOn(server);
    callers = {
      PK: server.dana,
      AG: await newAgent(server.dana, board),
      DG: await newDelegation(server, server.dana),
      PC: (await select(server, pair, await propose(pair), 'initiator')).proof,
    };
  });
  after(() => server.stop());

  const callerFor = (name: OperationName): Api => {
    const { credentials }: OperationRow = operations[name];
    const kind = ['PK', 'AG', 'DG', 'PC'].find((each) => (credentials as readonly string[]).includes(each));
    return kind ? callers[kind]! : new Api(server.url);
  };

  /** What was refused for its form: by field, what was said of it. */
  async function refusals(name: OperationName, calls: Call[]): Promise<[field: string, message: string][]> {
    const found: [string, string][] = [];
    for (const call of calls) {
      const { status, code, body } = await callerFor(name).call(name, {
        ...goodCall(name, stage),
        headers: { origin: server.url },
        ...call,
      });
      if (status !== 400 || code !== 'invalid_request') continue;
      const { error } = body as unknown as { error: { message: string; hint: string; details: { field: string } } };
      found.push([error.details.field, error.message]);
      expect(error.hint, error.message).to.not.equal('');
      expect(error.message.startsWith(`${error.details.field}: `), error.message).to.equal(true);
      expect(error.message).to.not.include('No such thing!').and.not.include('xxxx');
    }
    return found;
  }

  for (const name of names.filter((each) => partOf(each, 'body') !== undefined))
    it(`in any field of what ${name} is sent is refused by the field's name, with what is accepted`, async () => {
      for (const [place, { value, path }] of placesOf(partOf(name, 'body')!)) {
        const said = await refusals(
          name,
          [...wrong, long].map((odd) => ({ body: replaced(value, path, odd) })),
        );
        const fields = said.map(([field]) => placeOf(field));
        expect(
          fields.filter((field) => field === place || field.startsWith(`${place}.`)),
          place,
        ).to.not.deep.equal([]);
      }
      const [missing] = await refusals(name, [{ body: { surely_unknown: 1 } }]);
      expect(missing, 'nothing of it').to.not.equal(undefined);
    });

  for (const name of names.filter((each) => partOf(each, 'query') !== undefined))
    it(`in any parameter of ${name} is refused by its name, with what is accepted`, async () => {
      for (const key of fieldsOf(partOf(name, 'query')!)) {
        const query = goodCall(name, stage).query ?? {};
        const given = ['', 'No such thing!', '-1', '7.5', '99999999999999999', 'x'.repeat(4_000), 'a\0b'];
        const said = await refusals(
          name,
          given.map((odd) => ({ query: { ...query, [key]: odd } })),
        );
        expect(said.map(([field]) => field.split('.')[0])).to.include(key);
      }
    });

  for (const name of names.filter((each) => partOf(each, 'params') !== undefined))
    it(`in the path of ${name} is refused by the name of the part, with what is accepted`, async () => {
      const { params } = goodCall(name, stage);
      for (const param of fieldsOf(partOf(name, 'params')!)) {
        const said = await refusals(name, [{ params: { ...params, [param]: 'No such thing!' } }]);
        expect(said.map(([field]) => field)).to.deep.equal([param]);
      }
    });
});
