#include "config/config.h"

#include <stdlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

using namespace artel;
using namespace artel::config;
using namespace std::chrono_literals;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "artel-config-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    write("artel.toml", "");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  Folder& write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return *this;
  }
  [[nodiscard]] SiteConfig config() const {
    auto loaded = load_config(path_);
    INFO((loaded ? "" : loaded.error().text));
    REQUIRE(loaded);
    return *loaded;
  }
  /// The mistakes, one a line, with the folder's name taken away.
  [[nodiscard]] std::vector<std::string> mistakes() const {
    const auto loaded = load_config(path_);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == ErrorCode::kConfig);
    std::vector<std::string> lines;
    std::istringstream in(loaded.error().text);
    const std::string prefix = path_.string() + "/";
    for (std::string line; std::getline(in, line);) {
      for (auto at = line.find(prefix); at != std::string::npos; at = line.find(prefix))
        line.erase(at, prefix.size());
      lines.push_back(line);
    }
    return lines;
  }
  /// The only mistake.
  [[nodiscard]] std::string mistake() const {
    const auto lines = mistakes();
    INFO(lines.front());
    REQUIRE(lines.size() == 1);
    return lines.front();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool begins(const std::string& text, const std::string& part) {
  INFO(text);
  return text.starts_with(part);
}

std::string site_mistake(const std::string& text) {
  return Folder().write("artel.toml", text).mistake();
}

std::string node_mistake(const std::string& keys) {
  return Folder().write("cluster.d/n.toml", "[[node]]\n" + keys).mistake();
}

constexpr const char* kNode = "cpus = 4\nmemory = \"1GiB\"\n";

}  // namespace

TEST_CASE("an empty configuration has the defaults") {
  const SiteConfig config = Folder().config();
  CHECK(config.cluster == "artel");
  CHECK(config.controller == "localhost:7817");
  CHECK(config.munge_socket.empty());
  CHECK(config.listen == "0.0.0.0:7817");
  CHECK(config.operators == std::vector<std::string>{"root"});
  CHECK(config.prepare_timeout == 60s);
  CHECK(config.strikes_to_drain == 3);
  CHECK(config.max_array_tasks == 1'000'000);
  CHECK(config.strike_window == 24h);
  CHECK(config.nodes.empty());
  CHECK(config.teams.teams.empty());
  CHECK(config.teams.queues.empty());
  CHECK(config.teams.classes == default_classes());
}

TEST_CASE("every key of artel.toml is read") {
  const Folder folder;
  const SiteConfig config = Folder()
                                .write("artel.toml", R"(
[cluster]
name = "c1"
controller = "[::1]:1"
[munge]
socket = "/run/m"
[ctld]
listen = "127.0.0.1:65535"
state = "/s"
node_keys = "/k"
operators = ["a", "b"]
prepare_timeout = "5m"
strikes_to_drain = 0
max_array_tasks = 500
strike_window = "2h"
master_ports = "2000-3000"
backups = "/b"
backup_every = "0s"
backup_keep = 2
min_free = "1GiB"
reserve = "2MiB"
history = "30d"
history_export = "/h"
[noded]
state = "/n/%n/%%"
key = "/k/%n"
probe_port = 17819
[jobs]
output = "%x-%j"
)")
                                .config();
  CHECK(config.cluster == "c1");
  CHECK(config.controller == "[::1]:1");
  CHECK(config.munge_socket == "/run/m");
  CHECK(config.listen == "127.0.0.1:65535");
  CHECK(config.ctld_state == "/s");
  CHECK(config.node_keys == "/k");
  CHECK(config.operators == std::vector<std::string>{"a", "b"});
  CHECK(config.prepare_timeout == 5min);
  CHECK(config.strikes_to_drain == 0);
  CHECK(config.max_array_tasks == 500);
  CHECK(config.strike_window == 2h);
  CHECK(config.master_port_first == 2000);
  CHECK(config.master_port_last == 3000);
  CHECK(config.backups == "/b");
  CHECK(config.backup_every == Duration::zero());
  CHECK(config.backup_keep == 2);
  CHECK(config.min_free == Bytes{1U << 30U});
  CHECK(config.reserve == Bytes{2U << 20U});
  CHECK(config.history == std::chrono::days{30});
  CHECK(config.history_export == "/h");
  CHECK(config.node_state == "/n/%n/%%");
  CHECK(config.node_key == "/k/%n");
  CHECK(config.probe_port == 17819);
  CHECK(config.output == "%x-%j");
}

TEST_CASE(
    "backups and written history lie in the controller's folder unless they are put elsewhere") {
  const SiteConfig config = Folder().write("artel.toml", "[ctld]\nstate = \"/s\"\n").config();
  CHECK(config.backups == "/s/backups");
  CHECK(config.history_export == "/s/history");
}

TEST_CASE("the shipped configuration is right and shows the defaults") {
  const auto shipped = load_config(ARTEL_ETC);
  INFO((shipped ? "" : shipped.error().text));
  REQUIRE(shipped);
  const SiteConfig config;
  CHECK(shipped->cluster == config.cluster);
  CHECK(shipped->controller == config.controller);
  CHECK(shipped->munge_socket == config.munge_socket);
  CHECK(shipped->listen == config.listen);
  CHECK(shipped->ctld_state == config.ctld_state);
  CHECK(shipped->node_keys == config.node_keys);
  CHECK(shipped->operators == config.operators);
  CHECK(shipped->prepare_timeout == config.prepare_timeout);
  CHECK(shipped->strikes_to_drain == config.strikes_to_drain);
  CHECK(shipped->max_array_tasks == config.max_array_tasks);
  CHECK(shipped->strike_window == config.strike_window);
  CHECK(shipped->master_port_first == config.master_port_first);
  CHECK(shipped->master_port_last == config.master_port_last);
  CHECK(shipped->backups == config.backups);
  CHECK(shipped->backup_every == config.backup_every);
  CHECK(shipped->backup_keep == config.backup_keep);
  CHECK(shipped->min_free == config.min_free);
  CHECK(shipped->reserve == config.reserve);
  CHECK(shipped->history == config.history);
  CHECK(shipped->history_export == config.history_export);
  CHECK(shipped->node_state == config.node_state);
  CHECK(shipped->node_key == config.node_key);
  CHECK(shipped->probe_port == config.probe_port);
  CHECK(shipped->output == config.output);
}

TEST_CASE("the shipped examples are right once their marks are taken away") {
  Folder folder;
  for (const char* name : {"cluster.d/example.toml", "teams.d/example.toml"}) {
    std::ifstream in(std::filesystem::path(ARTEL_ETC) / name);
    REQUIRE(in);
    std::string text;
    for (std::string line; std::getline(in, line);) {
      const std::string rest = line.starts_with("# ") ? line.substr(2) : "";
      const bool is_key = rest.find(" = ") != std::string::npos && rest.front() != '#' &&
                          rest.find_first_of(".:") > rest.find(" = ");
      if (is_key || rest.starts_with("[[")) text += rest + "\n";
    }
    folder.write(name, text);
  }
  const SiteConfig config = folder.config();
  CHECK(config.nodes.size() == 16);
  CHECK(config.nodes[0].address == "hgx01.cluster.example.org");
  REQUIRE(config.teams.teams.size() == 2);
  CHECK(config.teams.find_team("nlp")->terms.guarantee == QuotaAmounts{{"h100", 64}});
  REQUIRE(config.teams.queues.size() == 3);
  CHECK(config.teams.queues[0].team == "nlp");
}

TEST_CASE("all mistakes of all files are told at once with file, line and key") {
  Folder folder;
  folder.write("artel.toml", "[cluster]\nnmae = \"x\"\n\n[jbos]\n[ctld]\noperators = 3\n")
      .write("cluster.d/a.toml", "[[node]]\nname = \"n1\"\ncpus = \"4\"\nmemory = \"1GiB\"\n")
      .write("teams.d/t.toml", "[[team]]\nname = 3\n");
  CHECK(folder.mistakes() ==
        std::vector<std::string>{
            "artel.toml:2: cluster.nmae: unknown key, did you mean 'name'?",
            "artel.toml:6: ctld.operators: must be a list of texts, such as [\"root\"], but is a "
            "number",
            "artel.toml:4: jbos: unknown key, did you mean 'jobs'?",
            "cluster.d/a.toml:3: node.cpus: must be a whole number, but is a text",
            "teams.d/t.toml:2: team.name: must be a text in quotes, but is a number"});
}

TEST_CASE("an unknown key that is near none is told with the known ones") {
  CHECK(site_mistake("[munge]\ncolour = 1\n") ==
        "artel.toml:2: munge.colour: unknown key; known here: socket");
}

TEST_CASE("text that is no TOML is told with its line") {
  CHECK(begins(site_mistake("[cluster]\nname = \n"), "artel.toml:2: "));
  CHECK(begins(site_mistake("[cluster]\n[cluster]\n"), "artel.toml:2: "));
  CHECK(begins(site_mistake("x = \"\xff\""), "artel.toml:1: "));
}

TEST_CASE("values of artel.toml that cannot be are told") {
  const auto check = [](const std::string& text, const std::string& told) {
    INFO(told);
    CHECK(begins(site_mistake(text), told));
  };
  check("cluster = 3",
        "artel.toml:1: cluster: must be a table, written [cluster], but is a number");
  check("[cluster]\nname = \"a b\"", "artel.toml:2: cluster.name: 'a b' must be made of letters");
  check("[cluster]\nname = \"\"", "artel.toml:2: cluster.name: '' must be made of letters");
  check("[cluster]\ncontroller = \"host\"",
        "artel.toml:2: cluster.controller: 'host' is not host:port");
  check("[cluster]\ncontroller = \"host:0\"", "artel.toml:2: cluster.controller: ");
  check("[cluster]\ncontroller = \":1\"", "artel.toml:2: cluster.controller: ");
  check("[cluster]\ncontroller = \"::1:7\"", "artel.toml:2: cluster.controller: ");
  check("[munge]\nsocket = \"run\"", "artel.toml:2: munge.socket: 'run' must be an absolute path");
  check("[ctld]\nlisten = \"0.0.0.0:65536\"", "artel.toml:2: ctld.listen: ");
  check("[ctld]\nstate = \"s\"", "artel.toml:2: ctld.state: 's' must be an absolute path");
  check("[ctld]\noperators = [\"a\", 3]",
        "artel.toml:2: ctld.operators: must be a list of texts, but one");
  check("[ctld]\noperators = [\"\"]", "artel.toml:2: ctld.operators: an empty text");
  check("[ctld]\nprepare_timeout = 60",
        "artel.toml:2: ctld.prepare_timeout: must be a duration in quotes, such as \"60s\", but is "
        "a");
  check("[ctld]\nprepare_timeout = \"0\"", "artel.toml:2: ctld.prepare_timeout: '0' is no time");
  check("[ctld]\nmaster_ports = \"3000-2000\"",
        "artel.toml:2: ctld.master_ports: range 3000-2000 runs");
  check("[ctld]\nmaster_ports = \"80-90\"",
        "artel.toml:2: ctld.master_ports: first port: 80 is out of");
  check("[ctld]\nmaster_ports = \"x\"", "artel.toml:2: ctld.master_ports: first port: 'x' is not");
  check("[ctld]\nbackups = \"b\"", "artel.toml:2: ctld.backups: 'b' must be an absolute path");
  check("[ctld]\nbackup_keep = 0", "artel.toml:2: ctld.backup_keep: 0 is out of range");
  check("[ctld]\nhistory = \"2d\"", "artel.toml:2: ctld.history: must be 3d or longer");
  check("[noded]\nstate = \"/n/%j\"", "artel.toml:2: noded.state: '%j' is not known here");
  check("[noded]\nkey = \"/n/%\"", "artel.toml:2: noded.key: '%' is not known here");
  check("[jobs]\ngrace = \"30s\"",
        "artel.toml:2: jobs.grace: is not a key any more: each class has its own; write [[class]]");
  check("[scheduler]\nhalf_life = \"0s\"", "artel.toml:2: scheduler.half_life: '0s' is no time");
  check("[scheduler]\nkappa = -1", "artel.toml:2: scheduler.kappa: -1 is out of range");
  check("[scheduler]\nkappa = \"x\"",
        "artel.toml:2: scheduler.kappa: must be a number, but is a text");
  check("[scheduler]\nshare_between = \"usr\"",
        "artel.toml:2: scheduler.share_between: 'usr' is none of user, team and all, did you mean "
        "'user'?");
  check("[jobs]\noutput = \"%q\"", "artel.toml:2: jobs.output: '%q' is not known here");
  check("[jobs]\noutput = \"\"", "artel.toml:2: jobs.output: must name a file");
  check("[jobs]\noutput = 1.5",
        "artel.toml:2: jobs.output: must be a text in quotes, but is a number with a fraction");
  check("[jobs]\noutput = 2026-11-30",
        "artel.toml:2: jobs.output: must be a text in quotes, but is a date");
}

TEST_CASE("nodes are read in the order of files and lists") {
  const SiteConfig config =
      Folder()
          .write("cluster.d/20.toml", std::string("[[node]]\nname = \"login\"\n") + kNode)
          .write("cluster.d/10.toml",
                 "[[node]]\nnames = \"hgx[02,01]\"\ncpus = 96\nmemory = \"2TiB\"\ngpus = { h100 = "
                 "8 }\n"
                 "address = \"%n.ib\"\n"
                 "[[node]]\nname = \"a\"\ncpus = 1\nmemory = \"1G\"\ngpus = 2\ngpu_type = \"l4\"\n"
                 "simulated = true\naddress = \"127.0.0.1\"\n")
          .write("cluster.d/.hidden.toml", "no TOML")
          .write("cluster.d/10.toml.bak", "no TOML")
          .config();
  REQUIRE(config.nodes.size() == 4);
  CHECK(config.nodes[0] ==
        NodeConfig{"hgx02", "hgx02.ib", {96, Bytes{2ULL << 40U}, "h100", 8}, false});
  CHECK(config.nodes[1].name == "hgx01");
  CHECK(config.nodes[1].address == "hgx01.ib");
  CHECK(config.nodes[2] == NodeConfig{"a", "127.0.0.1", {1, Bytes{1ULL << 30U}, "l4", 2}, true});
  CHECK(config.nodes[3] == NodeConfig{"login", "login", {4, Bytes{1ULL << 30U}, "", 0}, false});
}

TEST_CASE("nodes that cannot be are told") {
  const auto check = [](const std::string& keys, const std::string& told) {
    INFO(keys);
    CHECK(begins(node_mistake(keys), "cluster.d/n.toml:" + told));
  };
  const std::string node = kNode;
  check(node, "1: node.name: is missing");
  check("name = \"n1\"\nnames = \"n2\"\n" + node, "3: node.names: there is a name already");
  check("name = \"n[1-2]\"\n" + node, "2: node.name: 'n[1-2]' must be one name");
  check("names = \"n[1-\"\n" + node, "2: node.names: host list 'n[1-', character 5");
  check("names = \"\"\n" + node, "2: node.names: is empty");
  check("name = \"../n\"\n" + node, "2: node.name: host list");
  check("name = \"n\"\ncpus = 1\n", "1: node.memory: is missing");
  check("name = \"n\"\nmemory = \"1G\"\n", "1: node.cpus: is missing");
  check("name = \"n\"\ncpus = 0\nmemory = \"1G\"\n",
        "3: node.cpus: 0 is out of range; accepted are 1");
  check("name = \"n\"\ncpus = -1\nmemory = \"1G\"\n", "3: node.cpus: -1 is out of range");
  check("name = \"n\"\ncpus = 1\nmemory = \"0\"\n", "4: node.memory: must be more than 0");
  check("name = \"n\"\ncpus = 1\nmemory = \"1X\"\n", "4: node.memory: '1X' is not a size");
  check("name = \"n\"\ncpus = 1\nmemory = 5\n", "4: node.memory: must be a size in quotes");
  check("name = \"n\"\ngpus = 8\n" + node, "3: node.gpus: has no type");
  check("name = \"n\"\ngpus = 65\ngpu_type = \"a\"\n" + node, "3: node.gpus: 65 is out of range");
  check("name = \"n\"\ngpus = { a = 65 }\n" + node, "3: node.gpus: must be 0 to 64 of a type");
  check("name = \"n\"\ngpus = { a = 1, b = 1 }\n" + node,
        "3: node.gpus: must name exactly one type");
  check("name = \"n\"\ngpus = { \"a b\" = 1 }\n" + node, "3: node.gpus: the type 'a b' must be");
  check("name = \"n\"\ngpus = \"8\"\n" + node, "3: node.gpus: is a text");
  check("name = \"n\"\ngpu_type = \"a\"\n" + node, "3: node.gpu_type: says nothing without gpus");
  check("name = \"n\"\ngpus = { a = 1 }\ngpu_type = \"a\"\n" + node,
        "4: node.gpu_type: the type is given");
  check("name = \"n\"\naddress = \"a b\"\n" + node, "3: node.address: 'a b' must be a host name");
  check("name = \"n\"\naddress = \"%x\"\n" + node, "3: node.address: '%x' is not known here");
  check("names = \"n[1-2]\"\naddress = \"a\"\n" + node,
        "3: node.address: 'a' would be the same for 2");
  check("name = \"n\"\nsimulated = 1\n" + node, "3: node.simulated: must be true or false");
  check("name = \"n\"\ncpu = 1\n" + node, "3: node.cpu: unknown key, did you mean 'cpus'?");
}

TEST_CASE("where a node hangs, what it has and whose it is are read") {
  const SiteConfig config =
      Folder()
          .write("cluster.d/n.toml",
                 std::string("[[node]]\nname = \"n1\"\nleaf = \"l1\"\nblock = \"b1\"\n"
                             "features = [\"ib\", \"gen5.1\"]\nowner = \"a\"\n") +
                     kNode + "[[node]]\nnames = \"n[2-3]\"\n" + kNode)
          .write("teams.d/t.toml", "[[team]]\nname = \"a\"\nnodes = \"n2\"")
          .config();
  CHECK(config.nodes[0].leaf == "l1");
  CHECK(config.nodes[0].block == "b1");
  CHECK(config.nodes[0].features == std::vector<std::string>{"ib", "gen5.1"});
  CHECK(config.nodes[0].owner == "a");
  CHECK(config.nodes[1].owner == "a");
  CHECK(config.nodes[2].owner.empty());
}

TEST_CASE("a node is defined once in all files") {
  Folder folder;
  folder.write("cluster.d/a.toml", std::string("[[node]]\nnames = \"n[1-3]\"\n") + kNode)
      .write("cluster.d/b.toml", std::string("\n[[node]]\nname = \"n2\"\n") + kNode);
  CHECK(folder.mistake() ==
        "cluster.d/b.toml:2: node: node 'n2' is defined already at cluster.d/a.toml:1");
  Folder twice;
  twice.write("cluster.d/a.toml", std::string("[[node]]\nnames = \"n1,n1\"\n") + kNode);
  CHECK(begins(twice.mistake(), "cluster.d/a.toml:1: node: node 'n1' is defined already"));
}

TEST_CASE("teams and queues are read") {
  const SiteConfig config =
      Folder()
          .write("teams.d/a.toml",
                 "[[queue]]\nname = \"q1\"\nteam = \"t2\"\n[[queue]]\nname = \"q2\"\n")
          .write("teams.d/b.toml", "[[team]]\nname = \"t1\"\n[[team]]\nname = \"t2\"\n")
          .config();
  REQUIRE(config.teams.teams.size() == 2);
  CHECK(config.teams.teams[1].name == "t2");
  REQUIRE(config.teams.queues.size() == 2);
  CHECK(config.teams.queues[0].team == "t2");
  CHECK(config.teams.queues[1].team.empty());
}

TEST_CASE("teams and queues that cannot be are told") {
  const auto check = [](const std::string& text, const std::string& told) {
    INFO(text);
    CHECK(begins(Folder().write("teams.d/t.toml", text).mistake(), "teams.d/t.toml:" + told));
  };
  check("[[team]]\n", "1: team.name: is missing");
  check("[[team]]\nname = \"a b\"", "2: team.name: 'a b' must be one word");
  check("[[team]]\nname = \"a\"\n[[team]]\nname = \"a\"",
        "3: team.name: team 'a' is defined already at");
  check("[[queue]]\nname = \"a\"\n[[queue]]\nname = \"a\"",
        "3: queue.name: queue 'a' is defined already at");
  check("[[queue]]\nname = \"a\"\nteam = \"\"", "3: queue.team: is empty");
  check("[[team]]\nname = \"nlp\"\n[[queue]]\nname = \"a\"\nteam = \"npl\"",
        "3: queue.team: there is no team 'npl', did you mean 'nlp'?");
  check("team = \"nlp\"", "1: team: must be written [[team]], but is a text");
  check("[team]\nname = \"nlp\"", "1: team: must be written [[team]], but is a table");
}

TEST_CASE("keys that are not acted on yet are refused, not ignored") {
  const auto check = [](const std::string& text, const std::string& told) {
    const std::string mistake = Folder().write("teams.d/t.toml", text).mistake();
    CHECK(begins(mistake, "teams.d/t.toml:3: " + told));
    CHECK(mistake.find("does not act on it yet") != std::string::npos);
  };
  for (const char* key : {"leads = [\"group:x\"]", "spares = 2"})
    check(std::string("[[team]]\nname = \"a\"\n") + key, "team.");
  for (const char* key : {"weight = 2", "spares = 2", "idle_timeout = \"1h\""})
    check(std::string("[[queue]]\nname = \"a\"\n") + key, "queue.");
}

TEST_CASE("a folder without artel.toml is told with the way out") {
  const auto loaded = load_config("/nonexistent");
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == ErrorCode::kConfig);
  CHECK(loaded.error().text ==
        "there is no /nonexistent/artel.toml; name the folder with --config or in ARTEL_CONFIG");
}

TEST_CASE("a file that cannot be read is told") {
  Folder folder;
  std::filesystem::create_directories(folder.path() / "cluster.d" / "x.toml");
  CHECK(begins(folder.mistake(), "cluster.d/x.toml: cannot be read: Is a directory"));
}

TEST_CASE("the folder is the option's, else the environment's, else /etc/artel") {
  unsetenv("ARTEL_CONFIG");
  CHECK(config_folder("") == "/etc/artel");
  setenv("ARTEL_CONFIG", "/a", 1);
  CHECK(config_folder("") == "/a");
  CHECK(config_folder("/b") == "/b");
  setenv("ARTEL_CONFIG", "", 1);
  CHECK(config_folder("") == "/etc/artel");
  unsetenv("ARTEL_CONFIG");
}

TEST_CASE("a node's pattern has its name filled in") {
  CHECK(for_node("/n/%n/%n", "n1") == "/n/n1/n1");
  CHECK(for_node("/n/%%n", "n1") == "/n/%n");
  CHECK(for_node("/n", "n1") == "/n");
}
