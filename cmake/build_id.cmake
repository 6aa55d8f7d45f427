# cmake -DROOT=... -DCOMPILER=... -DOUTPUT=... -P build_id.cmake
#
# Writes a header that defines PLACKETT_BUILD_ID: a hash of everything that the numbers of an
# experiment depend on: the sources of these rooms, and COMPILER, the compiler and its flags.
set(rooms base dataset ranker sampling users learner evaluation experiment gpu)
set(text "${COMPILER}\n")
list(TRANSFORM rooms PREPEND ${ROOT}/src/ OUTPUT_VARIABLE folders)
foreach(folder ${ROOT}/include/plackett ${folders})
  file(GLOB files ${folder}/*.h ${folder}/*.cc ${folder}/*.cu)
  foreach(file IN LISTS files)
    file(SHA256 ${file} hash)
    file(RELATIVE_PATH name ${ROOT} ${file})
    string(APPEND text "${name} ${hash}\n")
  endforeach()
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 40 id)
file(WRITE ${OUTPUT} "#define PLACKETT_BUILD_ID \"${id}\"\n")
