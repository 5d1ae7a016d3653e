/** Servers that are not ours, at their public names: nock answers for them, and nothing leaves this machine. */
import nock from 'nock';

// To import nock is to let it take over the network of the whole process.
nock.restore();

/** For the tests of one `describe`: the network is nock's, and as it was before for everybody else. */
export function answerElsewhere(): void {
  before(() => {
    nock.activate();
    nock.disableNetConnect();
  });
  afterEach(() => nock.cleanAll());
  after(() => {
    nock.enableNetConnect();
    nock.restore();
  });
}

export { nock };
