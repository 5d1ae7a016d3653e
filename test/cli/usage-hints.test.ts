/** A command line that lacks something is told how this very command is typed. */
import { expect } from 'chai';
import { Home } from './support/home.ts';

describe('a command line that lacks something', function () {
  this.timeout(60_000);
  const home = new Home();
  after(() => home.discard());

  for (const [command, usage] of [
    ['ask', 'ask [@NAME] QUESTION [OPTION…] [flags]; such as: service ask @maya "Which region?" "eu-west" "us-east"'],
    ['say', 'board post [BODY] [flags]; such as: service board post "'],
    ['answer 6', 'answer '],
    ['task note', 'task note [TASK] TEXT [flags]; such as: service task note '],
    ['task done 17', 'task done [TASK] NOTE [flags]; such as: service task done '],
    ['task start', 'task start TASK [flags]; such as: service task start CHK-17'],
    ['board add', 'board add [BOARD] HANDLE [flags]; such as: service board add '],
    ['agent create', 'agent create NAME [flags]; such as: service agent create '],
    ['file put', 'file put PATH '],
    ['react 6', 'board react [BOARD] MESSAGE EMOJI [flags]; such as: service '],
  ] as const)
    it(`is told how "service ${command}" is used`, async () => {
      const { code, stderr } = await home.run(command.split(' '));
      expect(code).to.equal(2);
      expect(stderr).to.match(/^Error \(invalid_request\): (Missing: |Give )/);
      expect(stderr.split('\n')[1]).to.include(`Hint: Usage: service ${usage}`);
    });
});
