// MPI behind world.h, by its C interface.

#include "world.h"

#include <mpi.h>

#include <cstdint>
#include <cstdlib>

namespace artel::workload {

World::World(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

World::~World() { MPI_Finalize(); }

void World::sum(std::span<double> values) const {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
}

void World::broadcast(std::string* bytes) const {
  std::uint64_t length = bytes->size();
  MPI_Bcast(&length, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  bytes->resize(length);
  MPI_Bcast(bytes->data(), static_cast<int>(length), MPI_BYTE, 0, MPI_COMM_WORLD);
}

std::vector<std::string> World::gather(const std::string& text) const {
  constexpr int kWidth = 256;
  std::string mine = text.substr(0, kWidth - 1);
  mine.resize(kWidth);
  std::string all(is_first() ? static_cast<std::size_t>(size_) * kWidth : 0, '\0');
  MPI_Gather(mine.data(), kWidth, MPI_CHAR, all.data(), kWidth, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t start = 0; start < all.size(); start += kWidth) {
    texts.emplace_back(all.c_str() + start);
  }
  return texts;
}

void World::barrier() const { MPI_Barrier(MPI_COMM_WORLD); }

int World::local_rank() const {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  int local = 0;
  MPI_Comm_rank(node, &local);
  MPI_Comm_free(&node);
  return local;
}

void World::abort(int code) const {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

std::string node_name() {
  if (const char* name = std::getenv("ARTEL_NODE"); name != nullptr && *name != '\0') return name;
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return name;
}

}  // namespace artel::workload
