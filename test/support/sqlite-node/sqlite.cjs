const { Database } = require('node-sqlite3-wasm');

/*
 * Stands in for `node-red-node-sqlite` in the tests, with its types and its properties, so far as the
 * examples use them. The real one compiles SQLite when it is installed, and a machine with Node.js
 * and npm alone has no compiler. SQLite itself is the real one here too, on a real file.
 */

function DatabaseNode(RED) {
  return function (config) {
    RED.nodes.createNode(this, config);
    let database;
    this.open = () => (database ??= new Database(config.db));
    this.on('close', () => database?.close());
  };
}

function QueryNode(RED) {
  return function (config) {
    RED.nodes.createNode(this, config);
    const { open } = RED.nodes.getNode(config.mydb);
    this.on('input', (msg, send, done) => {
      try {
        const parameters = config.sqlquery === 'prepared' ? msg.params : undefined;
        send({ ...msg, payload: open().all(config.sql, parameters) });
        done();
      } catch (error) {
        done(error);
      }
    });
  };
}

module.exports = (RED) => {
  RED.nodes.registerType('sqlitedb', DatabaseNode(RED));
  RED.nodes.registerType('sqlite', QueryNode(RED));
};
