import { expect } from 'chai';
import { newAgent, newBoard } from '../../support/cast.ts';
import { forEachDatabase } from '../../support/databases.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

forEachDatabase('creating a board', (engine) => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer(engine);
  });
  after(() => server.stop());

  const create = (body: Record<string, unknown>, from = server.dana) => from.call('createBoard', { body });
  const refused = async (body: Record<string, unknown>, from = server.dana) => {
    const { status, code } = await create(body, from);
    return `${status} ${code}`;
  };

  it('makes its creator the first owner of an open board with the starter policy', async () => {
    const { body } = await create({ name: 'plain-board' });
    const me = await server.dana.ok('getMe');
    expect(body).to.deep.include({
      name: 'plain-board',
      title: null,
      visibility: 'open',
      lifecycle: 'active',
      on_board: true,
      template: null,
      charter: '',
      agents_add_people: true,
      head_seq: 2,
      message_count: 0,
      last_message_at: null,
      people_count: 1,
      agent_count: 0,
      read_up_to: 2,
      unread: 0,
      needs_reply: 0,
      task_prefix: null,
      can_archive: true,
      can_restore: false,
      can_delete: false,
    });
    expect(body.policy).to.deep.equal({
      preset: 'starter',
      visibility: 'open',
      broadcast: 'everyone',
      urgent: 'everyone',
      show_harness: true,
      nudges: 'on',
      agent_run: { notice: 12, hold: 30 },
      stale_after: 1_800,
      overrides: [],
    });
    expect(Object.keys(body.roles)).to.deep.equal(['member']);
    expect(body.roles['member']?.can).to.have.members([
      'post',
      'create_tasks',
      'claim_tasks',
      'write_notes',
      'upload_files',
      'invite',
      'add_people',
    ]);
    expect(body.created_by).to.include({ name: me.name, kind: 'human', role: null, owner: null, harness: null });
    const { people } = await server.dana.ok('listBoardPeople', { params: { board: 'plain-board' } });
    expect(people).to.have.length(1);
    expect(people[0]).to.include({
      id: me.id,
      board_role: 'owner',
      server_role: 'admin',
      member_id: body.created_by.id,
    });
    expect(await server.dana.ok('getBoard', { params: { board: 'plain-board' } })).to.deep.equal(body);
  });

  it('takes charter, roles and preset of its template, unless the request says otherwise', async () => {
    const { templates } = await server.dana.ok('listTemplates');
    expect(templates.map(({ name }) => name)).to.deep.equal(['general', 'writer-reviewer']);
    for (const template of templates) {
      const { body } = await create({ template: template.name });
      expect(body).to.include({ template: template.name, charter: template.charter });
      expect(body.roles).to.deep.equal({ member: body.roles['member'], ...template.roles });
      expect(body.roles).to.have.property('member');
      for (const role of template.pair) expect(body.roles).to.have.property(role);
      expect(template.charter.split('\n').length).to.be.within(2, 6);
      const own = await create({ template: template.name, charter: 'own\r\ncharter', preset: 'recommended' });
      expect(own.body.charter).to.equal('own\ncharter');
      expect(own.body.policy).to.include({
        preset: 'recommended',
        visibility: 'addressed',
        broadcast: 'granted',
        urgent: 'granted',
      });
    }
  });

  it('makes a private board that agents may not add people to', async () => {
    const { body } = await create({ visibility: 'private' });
    expect(body).to.include({ visibility: 'private', agents_add_people: false });
  });

  it('gives a free name when none is asked for', async () => {
    const names = [];
    for (let n = 0; n < 3; n++) names.push((await create({ template: 'general' })).body.name);
    expect(new Set(names).size).to.equal(3);
    for (const name of names) expect(name).to.match(/^general-\d+$/);
    expect((await create({})).body.name).to.match(/^board(-\d+)?$/);
  });

  it('takes a name of 2 to 40 characters of the pattern, and each only once', async () => {
    for (const name of ['a1', '0-0', 'x'.repeat(40)]) expect((await create({ name })).status, name).to.equal(201);
    for (const name of ['a', '', '-a', 'a-', 'A1', 'a_b', 'a b', 'é1', 'x'.repeat(41)]) {
      expect(await refused({ name }), name).to.equal('400 invalid_request');
    }
    expect(await refused({ name: 'a1' })).to.equal('409 board_name_taken');
  });

  it('takes a title of one line, of 80 characters after trimming; an empty one means no title', async () => {
    const title = '\u{1f389}'.repeat(80);
    expect((await create({ title: `  ${title}\t` })).body.title).to.equal(title);
    expect((await create({ title: '  ' })).body.title).to.equal(null);
    expect(await refused({ title: `${title}x` })).to.equal('400 invalid_request');
    for (const bad of ['two\nlines', 'a\u0007b', 'a\u2028b', 'a\u200bb', 'a\u{e0041}'])
      expect(await refused({ title: bad })).to.equal('422 invalid_request');
    expect((await create({ charter: 'c'.repeat(8_000) })).status).to.equal(201);
    expect((await create({ charter: 'c\r\n'.repeat(4_000) })).status).to.equal(201);
    expect(await refused({ charter: 'c'.repeat(8_001) })).to.equal('400 invalid_request');
  });

  it('is refused with the choices for an unknown template', async () => {
    const answer = await create({ template: 'nonsense' });
    expect([answer.status, answer.code]).to.deep.equal([422, 'template_not_found']);
    const { details } = (answer.body as unknown as { error: { details: unknown } }).error;
    expect(details).to.deep.equal({ choices: ['general', 'writer-reviewer'] });
  });

  it('is refused to a guest before any value is looked at, and to agents', async () => {
    const gus = await server.person('gus', 'guest');
    for (const body of [{}, { title: 'two\nlines' }, { template: 'nonsense' }, { name: 'a1' }]) {
      expect(await refused(body, gus), JSON.stringify(body)).to.equal('403 guest_not_allowed');
    }
    const agent = await newAgent(server.dana, (await newBoard(server.dana, { name: 'for-an-agent' })).name);
    expect(await refused({}, agent)).to.equal('403 human_token_required');
  });

  it('with one name 16 times at once makes one board', async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => refused({ name: 'only-one' })));
    expect(answers.filter((answer) => answer === '201 undefined')).to.have.length(1);
    expect(answers.filter((answer) => answer === '409 board_name_taken')).to.have.length(15);
  });
});
